package faults

import "context"

func none() Fault {
	return Fault{Name: "none", Family: Nothing, Doc: "nothing goes wrong",
		Inject: func(context.Context, Strike) (Proof, error) { return nil, nil }}
}
