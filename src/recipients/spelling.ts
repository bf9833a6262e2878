/** The canonical spelling of a recipient's name, or why the text is none. */
export type Spelling =
  | { canonical: string }
  | {
      /** What is wrong with the text, as a sentence without its full stop. Undefined if it has no known form. */
      reason?: string;
      /** The canonical spelling of the name that is probably meant. */
      suggestion?: string;
    };
