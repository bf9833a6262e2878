import { createHash } from 'node:crypto';

export function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}: npm run bench does it`);
  return value;
}

/** The number of hexadecimal digits. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
