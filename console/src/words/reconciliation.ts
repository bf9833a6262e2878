import type { FindingDecisionDto } from '../api/generated/schema';

/** Colors of the severities of findings. */
export const SEVERITY_COLORS = { critical: 'red', high: 'orange', medium: 'violet', low: 'gray' };

/** Colors of the states of findings. */
export const STATE_COLORS = {
  open: 'blue',
  reopened: 'violet',
  explained: 'teal',
  resolved: 'teal',
  accepted: 'gray',
};

/** Meanings of decisions about findings. */
export const DECISION_WORDS: Record<FindingDecisionDto['state'], string> = {
  explained: 'The reason is known, and nothing is owed.',
  resolved: 'The difference was corrected.',
  accepted:
    'The difference is a permanent loss or gain. Only a person who did not request the payment can ' +
    'accept the finding.',
  reopened: 'The earlier decision no longer applies.',
};

/** Colors of the results of runs. */
export const RESULT_COLORS = {
  clean: 'teal',
  clean_with_doubts: 'yellow',
  incomplete: 'orange',
  findings: 'orange',
  failed: 'red',
};

/** Explanations of results that are not clean even without findings. */
export const RESULT_WORDS: Partial<Record<string, string>> = {
  clean_with_doubts:
    'Everything that was compared matches, but some calls or transactions are in doubt and may still change.',
  incomplete: 'Not everything could be compared. There may be more differences.',
};

/** Steps of a run. */
export const STEP_WORDS: Record<string, string> = {
  sources: "Reading the upstream's transactions",
  ours: 'Loading our payments',
  theirs: 'Loading their transactions',
  match: 'Matching',
  confirm: 'Looking up unlisted transactions',
  judge: 'Classifying differences',
  record: 'Recording the result',
};
