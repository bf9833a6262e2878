import { userInfo } from 'node:os';
import { AT_START, ChangeAuthor } from '../access/clients/changes';
import { ClientError } from '../access/clients/client-error';
import { isText } from '../http/validation/rules/text';

const MAX_REASON = 1_000;

/**
 * Returns the user of the operating system as the author of a change.
 * @throws ClientError if the reason cannot be stored in a record.
 */
export function changedByOperator(reason: string | undefined): ChangeAuthor {
  if (reason !== undefined && (reason.trim() === '' || !isText(reason, MAX_REASON))) {
    throw new ClientError(
      `--reason must be text of 1 to ${MAX_REASON} characters, without control characters.`,
    );
  }
  return { ...AT_START, via: 'cli', actor: operator(), reason: reason ?? null };
}

/** Returns the user of the operating system, who may have no name in a container. */
function operator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
