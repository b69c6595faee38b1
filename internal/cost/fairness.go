package cost

// Fairness is Jain's index of what each client was given, as a part of the best that
// so many grants allow: 1 where all got the same, or differ by the one grant that was
// left over, and 1/n where one of n got everything. Without any grant it is 0.
//
// The index itself, (Σx)²/(n·Σx²), would call a perfect queue unfair whose ten grants
// can't reach sixteen clients. Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure
// of Fairness and Discrimination for Resource Allocation in Shared Computer Systems",
// DEC-TR-301, 1984.
func Fairness(each []int) float64 {
	sum, squares := 0, 0
	for _, x := range each {
		sum += x
		squares += x * x
	}
	if sum == 0 {
		return 0
	}
	n := len(each)
	all, over := sum/n, sum%n
	best := over*(all+1)*(all+1) + (n-over)*all*all
	return float64(best) / float64(squares)
}
