import { Command } from 'commander';

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('print the OpenAPI document')
    .addHelpText('after', '\nExamples:\n  npm run -s cli -- openapi > openapi.json')
    .action(async () => {
      // The only command that needs the whole application, which takes longer to load than all others together.
      const { describeApi } = await import('./api-document.js');
      process.stdout.write(`${JSON.stringify(await describeApi(), null, 2)}\n`);
    });
}
