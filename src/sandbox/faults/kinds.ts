import { MAGIC, MagicName } from '../magic-recipients';
import { FaultRow, FAULTS, rowOf } from './table';

/** The faults that can be asked for, as the control interface tells of them. */
export function faultKinds() {
  return Object.entries<FaultRow>(FAULTS).map(([fault, { does, processed, choosesProcessed, settings = {} }]) => ({
    fault,
    does,
    processed,
    choosesProcessed: choosesProcessed ?? false,
    settings: Object.entries(settings).map(([name, { byDefault, rule }]) => ({
      name,
      default: byDefault,
      must: rule.must,
    })),
  }));
}

/** The recipients that make things happen, each with one of its phone numbers, and what a payout to it meets. */
export function magicRecipients() {
  return (Object.keys(MAGIC) as MagicName[]).map((name) => {
    const row = MAGIC[name];
    return {
      name,
      phoneNumber: `+2547${row.digits}`,
      email: `${name}@sandbox.example`,
      twitter: `@sandbox_${name}`,
      does: 'does' in row ? row.does : rowOf(row.fault).does,
    };
  });
}
