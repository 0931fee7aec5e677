package beef_test

import (
	"fmt"

	"treecast/wire/beef"
)

// An object goes in at a door, rides in chunks, and comes out at an edge.
func Example() {
	object := append([]byte{0x01, 0x00, 0xBE, 0xEF}, make([]byte, 6000)...)
	record, err := beef.AppendRecord(nil, []string{"tm_ship", "tm_slap"}, object)
	if err != nil {
		fmt.Println(err)
		return
	}

	door, err := beef.NewScanner(beef.ScannerConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	door.Feed(record)
	sub, err := door.Next()
	if err != nil {
		fmt.Println(err)
		return
	}
	sub.Allow(2)
	sub.Frame.HashKey = beef.HashKey(beef.SenderOf([32]byte{1}), beef.BaseGroup)
	sub.Frame.SeqNum = 1
	chunks, err := beef.Chunks(&sub.Frame, make([]byte, 0, beef.MaxChunk))
	if err != nil {
		fmt.Println(err)
		return
	}

	var consumers beef.Elections
	consumers.Set(7, beef.Election{Topics: []beef.TopicID{beef.TopicIDOf("tm_slap")}})
	edge, err := beef.NewReassembler(beef.ReassemblerConfig{
		Wants: func(f *beef.Fragment) bool {
			offer, known := beef.OfferOfFragment(f)
			return !known || consumers.Wants(&offer)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for chunk := range chunks {
		fragment, err := beef.ParseFragment(chunk)
		if err != nil {
			fmt.Println(err)
			return
		}
		frame, outcome := edge.Add(start, &fragment)
		fmt.Printf("fragment %d of %d: %v\n", fragment.Index, fragment.Total, outcome)
		if outcome != beef.OutcomeComplete {
			continue
		}
		offer, err := beef.OfferOf(&frame)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, m := range consumers.Match(&offer, nil) {
			delivery := beef.AppendDelivery(nil, &beef.Delivery{TopicID: m.Topic, Payload: frame.Payload})
			fmt.Printf("consumer %d gets %d bytes\n", m.Consumer, len(delivery))
		}
	}
	// Output:
	// fragment 0 of 2: held
	// fragment 1 of 2: complete
	// consumer 7 gets 6064 bytes
}
