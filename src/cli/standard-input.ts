/** Reads text from standard input, so that people do not appear in the history of a shell. */
export async function standardInput(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text.trim();
}
