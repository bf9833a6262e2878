/**
 * The field in which callers send values of their own, and get them back. Callers choose its names and its structure,
 * so it may name a person.
 */
export const FREE_FORM = 'meta';
