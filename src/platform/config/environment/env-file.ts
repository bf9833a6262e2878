import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf } from '../../errors/error-code';
import { isSecretName } from '../secrets/secret-files';
import { VARIABLES } from './variables';

/** The values of a `.env` file, and the faults, by variable. */
export interface EnvFile {
  values: Readonly<Record<string, string | undefined>>;
  faults: ReadonlyMap<string, string>;
}

/** An assignment as parsed by Node.js: its name, its value with quotes, and the rest of its last line. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*('[^']*'|"[^"]*"|`[^`]*`|[^\n]*)([^\n]*)$/gm;

/**
 * Values with one meaning in Node.js, Docker Compose, systemd and shells. These disagree about `#`, `$`, `\`
 * and quotes in other values.
 */
const UNQUOTED = /^[^#$\\'"`]*$/;
const QUOTED = /^(?:'[^']*'|"[^"$\\`]*")$/;

/**
 * Reads a `.env` file. Empty without the file.
 * @returns the values, and a fault for each ambiguous one. A fault never quotes a value.
 * @throws an error with a code if the file is unreadable.
 */
export function readEnvFile(file: string): EnvFile {
  // Node.js would read the byte order mark as a part of the first name.
  const text = textIn(file)?.replace(/^\uFEFF/, '');
  if (text === undefined) return { values: {}, faults: new Map() };
  const faults = new Map<string, string>();
  const names = new Set<string>();
  for (const [, name = '', value = '', rest = ''] of text.matchAll(ASSIGNMENT)) {
    if (!isOurs(name)) continue;
    if (names.has(name)) faults.set(name, `${name} is set twice in .env`);
    names.add(name);
    if (rest.trim() === '' && [UNQUOTED, QUOTED].some((spelling) => spelling.test(value.trim()))) continue;
    faults.set(
      name,
      `${name} in .env can be read in two ways. Put its value in single quotes with nothing after them, ` +
        'and a comment on a line of its own',
    );
  }
  return { values: parseEnv(text), faults };
}

/** Returns a fault for each value in quotes or blanks. Only `docker run --env-file` keeps both. */
export function quotedFaults(values: NodeJS.ProcessEnv): string[] {
  const isQuoted = (value: string) => value !== value.trim() || /^(['"`])[^]*\1$/.test(value);
  const quoted = Object.entries(values).filter(([name, value = '']) => isOurs(name) && isQuoted(value));
  return quoted.map(
    ([name]) =>
      `${name} must have no quotes and no blanks around its value. docker run --env-file keeps both`,
  );
}

/** Returns whether a variable is ours. The process and a shared file may have others. */
function isOurs(name: string): boolean {
  return (
    Object.hasOwn(VARIABLES, name) ||
    isSecretName(name.replace(/_FILE$/, '')) ||
    /^(SANDBOX|UPSTREAM_ACCOUNT)_/.test(name)
  );
}

function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined; // the file is optional
    throw error;
  }
}
