import { Command } from 'commander';
import { writeFileSync } from 'node:fs';
import { referencePages } from './reference';

/** Hidden, because it is for contributors. Operators have no docs folder. */
export function docsCommand(): Command {
  return new Command('docs')
    .description('write the pages of docs/reference that come from the code')
    .action((_options: object, command: Command) => {
      for (const [path, text] of Object.entries(referencePages(command.parent ?? command))) writeFileSync(path, text);
    });
}
