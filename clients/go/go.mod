module postrider.example/postrider-go

go 1.19
