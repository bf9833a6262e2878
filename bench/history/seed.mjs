/** npm run seed -- --calls 1000000: writes a generated history for measurements. */
import { createRequire } from 'node:module';
import { Command, InvalidArgumentError } from 'commander';
import { fill, NotEmpty } from './history.mjs';
import { makeKeys } from './keys.mjs';

const require = createRequire(import.meta.url);
const { loadConfig } = require('../../dist/platform/config/config.js');
const { writePrivateJson } = require('../../dist/platform/config/secrets/private-file.js');
const { startEmbeddedPostgres } = require('../../dist/platform/database/embedded/embedded-postgres.js');

const wholeNumber = (text) => {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('must be a whole number from 1 to 999999999');
  return Number(text);
};

const { keys, ...history } = new Command('npm run seed --')
  .description('fill an empty database, named by DATA_DIR or DATABASE_URL, with a generated history')
  .option('--calls <number>', 'number of calls', wholeNumber, 1_000_000)
  .option('--days <number>', 'days over which the calls are spread, until now', wholeNumber, 180)
  .option('--seed <number>', 'seed of the history', wholeNumber, 1)
  .option('--keys <file>', 'file for the keys of a new auditor and a new app')
  .addHelpText('after', '\nAn interrupted run cannot be resumed. Begin with a new, empty database.')
  .parse()
  .opts();

const database = await open(loadConfig());
try {
  await fill(database.url, history);
  if (keys) writePrivateJson(keys, await makeKeys(database.url));
} catch (error) {
  if (!(error instanceof NotEmpty)) throw error;
  process.stderr.write(`${error.message}; a generated history must not mix with them\n`);
  process.exitCode = 1;
} finally {
  await database.stop();
}

async function open({ databaseUrl, databaseOwnerUrl, dataDir }) {
  if (databaseUrl) return { url: databaseOwnerUrl ?? databaseUrl, stop: async () => undefined };
  const postgres = await startEmbeddedPostgres(dataDir, { joinRunning: true });
  return { url: postgres.urls.owner, stop: () => postgres.stop() };
}
