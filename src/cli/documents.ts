import { writeFileSync } from 'node:fs';
import { Command } from 'commander';

/** A hidden command for contributors. Operators have no docs folder. */
export function docsCommand(): Command {
  return new Command('docs')
    .description('write the pages of docs/reference that come from the code')
    .action(async (_options: object, command: Command) => {
      const { describeRoutes } = await import('./api-document.js');
      const { referencePages } = await import('./reference.js');
      const pages = referencePages(command.parent ?? command, await describeRoutes());
      for (const [path, text] of Object.entries(pages)) writeFileSync(path, text);
    });
}

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('print the OpenAPI document of the routes for apps')
    .option('--staff', 'print the document for operators and auditors instead')
    .addHelpText('after', '\nExamples:\n  npm run -s cli -- openapi --staff > openapi.staff.json')
    .action(async ({ staff }: { staff?: true }) => {
      const { describeApi } = await import('./api-document.js');
      const documents = await describeApi();
      process.stdout.write(`${JSON.stringify(staff ? documents.staff : documents.apps, null, 2)}\n`);
    });
}
