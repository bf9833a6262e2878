/**
 * The field for callers' own values, which the upstream returns. Callers choose its names and structure, and
 * may name a person.
 */
export const FREE_FORM = 'meta';
