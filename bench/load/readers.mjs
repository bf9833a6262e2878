/** What readers do at their worst. A reader does one of them, again and again. */
export const READER_KINDS = ['summaries', 'prefixes', 'pages'];
