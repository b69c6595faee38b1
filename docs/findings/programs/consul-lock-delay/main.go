// Does Consul grant nobody a lock for its lock-delay of 15 s when the session of its holder ends?
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

var addr = append(os.Args, "localhost:8500")[1]

func put(path, body string) string {
	req, _ := http.NewRequest(http.MethodPut, "http://"+addr+path, strings.NewReader(body))
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

func session(how string) string {
	var made struct{ ID string }
	_ = json.Unmarshal([]byte(put("/v1/session/create", how)), &made)
	return made.ID
}

func main() {
	waiter := session(`{}`)
	for n := 1; n <= 100; n++ {
		key, holder := fmt.Sprintf("/v1/kv/delayed-%d-%d", os.Getpid(), n), session(`{"LockDelay": "15s"}`)
		fmt.Println("the holder acquires:", put(key+"?acquire="+holder, ""))
		granted := make(chan time.Time)
		for range 10 { // all in the waiter's session: whoever of them is granted it holds it
			go func() {
				for begun := time.Now(); time.Since(begun) < time.Second; {
					if strings.HasPrefix(put(key+"?acquire="+waiter, ""), "true") {
						granted <- time.Now()
					}
				}
			}()
		}
		time.Sleep(100 * time.Millisecond)
		ended := time.Now()
		fmt.Println("its session is ended:", put("/v1/session/destroy/"+holder, ""))
		select {
		case at := <-granted:
			fmt.Printf("the waiter is granted the lock %v later\n", at.Sub(ended).Round(time.Millisecond))
			return
		case <-time.After(time.Second):
		}
	}
	os.Exit(1)
}
