// Pod is what the pods of the test's Job run. It serves its index, asks the API server for
// the Job's other pods, and reaches each of them; when it has reached all it says so, and
// ends when there is a ConfigMap named finish. As "pod echo" it copies its input.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	members = 6
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "echo" {
		fmt.Println("index", os.Getenv("JOB_COMPLETION_INDEX"))
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return
	}
	index := os.Getenv("JOB_COMPLETION_INDEX")
	go func() {
		fmt.Println(http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, index)
		})))
		os.Exit(1)
	}()
	api, err := newAPI()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for all := false; ; time.Sleep(300 * time.Millisecond) {
		if !all {
			nodes, err := reachAll(api)
			if all = err == nil; all {
				fmt.Printf("reached %d pods on %d nodes\n", members, nodes)
			} else {
				fmt.Println(err)
			}
		}
		if all && api.get("configmaps/finish", nil) == nil {
			return
		}
	}
}

// reachAll asks each pod of the Job that is not being deleted for its index.
func reachAll(api *api) (nodes int, err error) {
	var list struct {
		Items []struct {
			Metadata struct {
				DeletionTimestamp string
				Labels            map[string]string
			}
			Spec   struct{ NodeName string }
			Status struct{ Phase, PodIP string }
		}
	}
	if err := api.get("pods?labelSelector=job-name", &list); err != nil {
		return 0, err
	}
	reached, on := map[string]bool{}, map[string]bool{}
	client := http.Client{Timeout: time.Second}
	for _, pod := range list.Items {
		if pod.Metadata.DeletionTimestamp != "" || pod.Status.Phase != "Running" {
			continue
		}
		response, err := client.Get("http://" + pod.Status.PodIP + ":8080")
		if err != nil {
			return 0, err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if index := pod.Metadata.Labels["batch.kubernetes.io/job-completion-index"]; err != nil || string(text) != index {
			return 0, fmt.Errorf("pod %s says that it is %q (%v)", index, text, err)
		}
		reached[string(text)], on[pod.Spec.NodeName] = true, true
	}
	if len(reached) < members {
		return 0, fmt.Errorf("reached %d pods", len(reached))
	}
	return len(on), nil
}

// api asks the API server as any program in a pod can.
type api struct {
	http.Client
	base, token string
}

func newAPI() (*api, error) {
	ca, errCA := os.ReadFile(account + "ca.crt")
	token, errToken := os.ReadFile(account + "token")
	namespace, errNamespace := os.ReadFile(account + "namespace")
	if err := errors.Join(errCA, errToken, errNamespace); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &api{
		Client: http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}},
		base:   "https://" + os.Getenv("KUBERNETES_SERVICE_HOST") + ":" + os.Getenv("KUBERNETES_SERVICE_PORT") + "/api/v1/namespaces/" + string(namespace) + "/",
		token:  string(token),
	}, nil
}

func (a *api) get(what string, into any) error {
	request, err := http.NewRequest(http.MethodGet, a.base+what, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	response, err := a.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", what, response.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}
