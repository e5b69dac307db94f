package persistentvolume_test
import ("testing";"time";"fmt")
func TestZZ(t *testing.T){
	w := start(t)
	w.volume("large", of("3Gi"))
	time.Sleep(time.Second)
	fmt.Printf("%+v\n", w.getVolume("large"))
	fmt.Println(w.events.list())
}
