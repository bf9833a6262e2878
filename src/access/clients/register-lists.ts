/** Lists of a client's register: recipients that it may pay, and recipients that it must not pay. */
export const REGISTER_LISTS = ['allowed', 'blocked'] as const;

export type RegisterList = (typeof REGISTER_LISTS)[number];

/** Maximum number of recipients that one change adds. Each addition is recorded. */
export const MAX_AT_ONCE = 500;
