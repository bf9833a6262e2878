import { Command } from 'commander';
import { writeFileSync } from 'node:fs';
import { referencePages } from './reference';

/** Hidden, because it is for contributors. Operators have no docs folder. */
export function docsCommand(): Command {
  return new Command('docs')
    .description('write the pages of docs/reference that come from the code')
    .action(async (_options: object, command: Command) => {
      const { describeRoutes } = await import('./api-document.js');
      const pages = referencePages(command.parent ?? command, await describeRoutes());
      for (const [path, text] of Object.entries(pages)) writeFileSync(path, text);
    });
}
