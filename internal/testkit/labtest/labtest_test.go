package labtest

import "testing"

func TestMain(m *testing.M) { Main(m) }

func TestServersAnswer(t *testing.T) {
	for _, topology := range []string{"redis", "etcd", "etcd-3"} {
		t.Run(topology, func(t *testing.T) {
			if got := Endpoints(Servers(t, topology)); len(got) == 0 {
				t.Fatal("no server")
			}
		})
	}
}
