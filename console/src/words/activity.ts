import type { ActivityRecord, ChangeRecord } from '../api/generated/schema';

/** Channels of actions. */
export const CHANNEL_WORDS: Record<ActivityRecord['via'], string> = {
  api: 'through the API',
  console: 'in the console',
  cli: 'on the command line',
  start: 'at startup',
  worker: 'by a worker',
  proxy: 'by the proxy itself',
};

/** Kinds of changes that need a second person. */
const KIND_WORDS: Record<ChangeRecord['kind'], string> = {
  create_client: 'New client',
  change_client: 'Change of client',
  issue_key: 'New key of client',
  lift_stop: 'Lift of a stop',
  merge_people: 'Merge of two people',
  forget_fees: 'Forgotten fees',
  settle_payouts: 'Settlement of payouts',
  attribute_transaction: 'Attribution of a transaction',
};

/** Returns the title of a change. */
export const changeTitle = ({ kind, client }: ChangeRecord) =>
  client === null ? KIND_WORDS[kind] : `${KIND_WORDS[kind]} ${client}`;
