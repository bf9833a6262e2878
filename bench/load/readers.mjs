/** Worst loads of readers. A reader repeats one of them. */
export const READER_KINDS = ['summaries', 'prefixes', 'pages'];
