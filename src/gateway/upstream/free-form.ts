/** The field in which callers put what they like, and get it back: its names and its structure are theirs, and may name a person. */
export const FREE_FORM = 'meta';
