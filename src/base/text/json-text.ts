// A JSON value that is kept as text: it was found to be valid, and is parsed later where that may take its time.

export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
