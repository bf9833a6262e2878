export const CHANGE_STATUSES = ['pending', 'approved', 'rejected', 'superseded', 'expired'] as const;

export type ChangeStatus = (typeof CHANGE_STATUSES)[number];
