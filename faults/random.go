package faults

// random strikes again and again, each time with one of the faults that can strike
// in the setting, as the run's seed has it: for soaking with a long --duration.
// Faults that kill clients for good are left out, since nobody would be left.
func random() Fault {
	return Fault{Name: "random", Family: Clients, Repeats: true,
		Doc: "one fault after the other, drawn by the seed, until the end of the run",
		Mix: []Fault{
			pauseHolder(), pauseClient(), cutHolder(), at(pause(), beforeWrite), clientAhead(), clientBehind(), clientFast(), clientDrift(),
			loseReply(), slowReply(), cutLeader(), cutHalves(), killLeader(), pauseLeader(), restartServer(),
		}}
}
