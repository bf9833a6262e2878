/**
 * Preloaded into a process to profile (`node --import`). SIGUSR2 starts a CPU profile, and the next SIGUSR2
 * writes it to PROFILE_FILE.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const MICROSECONDS_BETWEEN_SAMPLES = 250;

const session = new Session();
let running = false;

process.on('SIGUSR2', async () => {
  running = !running;
  if (running) {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: MICROSECONDS_BETWEEN_SAMPLES });
    await session.post('Profiler.start');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  const file = process.env.PROFILE_FILE;
  writeFileSync(`${file}.part`, JSON.stringify(profile));
  renameSync(`${file}.part`, file); // A waiting reader finds the complete file.
  session.disconnect();
});
