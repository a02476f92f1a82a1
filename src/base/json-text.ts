// A JSON value that is kept as its text: it was found to be valid, and whoever needs it builds it
// where that may take its time.

export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
