module github.com/postrider/postrider-go

go 1.19
