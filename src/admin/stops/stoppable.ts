import { CHANGING_OPERATIONS } from '../../operations/items/effects';

/** Operations that can be stopped. Reads always continue. */
export const STOPPABLE: string[] = [...CHANGING_OPERATIONS];

/** Maximum length of a reason. Every rejected requester reads it. */
export const MAX_REASON = 500;
