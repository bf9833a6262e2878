/** npm run seed -- --calls 1000000: writes a made-up history for measurements. */
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
  .description(
    'fill a database that has no records yet with a made-up history; DATA_DIR or DATABASE_URL says which',
  )
  .option('--calls <number>', 'how many calls', wholeNumber, 1_000_000)
  .option('--days <number>', 'over how many days, until now', wholeNumber, 180)
  .option('--seed <number>', 'the same number makes the same history', wholeNumber, 1)
  .option('--keys <file>', 'make an auditor and an app, and write their keys into this file')
  .addHelpText('after', '\nOne that was broken off is not gone on with: begin with a new, empty database.')
  .parse()
  .opts();

const database = await open(loadConfig());
try {
  await fill(database.url, history);
  if (keys) writePrivateJson(keys, await makeKeys(database.url));
} catch (error) {
  if (!(error instanceof NotEmpty)) throw error;
  process.stderr.write(`${error.message}; a made-up history has no place beside them\n`);
  process.exitCode = 1;
} finally {
  await database.stop();
}

async function open({ databaseUrl, databaseOwnerUrl, dataDir }) {
  if (databaseUrl) return { url: databaseOwnerUrl ?? databaseUrl, stop: async () => undefined };
  const postgres = await startEmbeddedPostgres(dataDir, { joinRunning: true });
  return { url: postgres.urls.owner, stop: () => postgres.stop() };
}
