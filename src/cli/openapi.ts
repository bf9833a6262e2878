import { Command } from 'commander';

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('print the OpenAPI document of the routes for apps')
    .option('--staff', 'print the document for operators and auditors instead')
    .addHelpText('after', '\nExamples:\n  npm run -s cli -- openapi --staff > openapi.staff.json')
    .action(async ({ staff }: { staff?: true }) => {
      // Only this command needs the whole application, which takes longer to load than all others together.
      const { describeApi } = await import('./api-document.js');
      const documents = await describeApi();
      process.stdout.write(`${toText(staff ? documents.staff : documents.apps)}\n`);
    });
}

const LINE_LENGTH = 200;

/** The depth of a schema's property, or of an operation's parameter or response, in the document. */
const LEVELS = 5;

/**
 * Writes each property, parameter and response on its own line, so that a diff shows which one changed. Lines are not indented,
 * because that would be a twentieth of the document.
 */
function toText(value: unknown, level = 0): string {
  const line = JSON.stringify(value);
  const isLeaf = typeof value !== 'object' || value === null || level === LEVELS;
  if (isLeaf || line.length <= LINE_LENGTH) return line;
  const inner = Array.isArray(value)
    ? value.map((element) => toText(element, level + 1))
    : Object.entries(value).map(([key, element]) => `${JSON.stringify(key)}:${toText(element, level + 1)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${inner.join(',\n')}\n${close}`;
}
