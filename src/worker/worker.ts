import { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Logger } from 'nestjs-pino';
import { HeartbeatService } from '../continuity/heartbeat/heartbeat.service';
import { SpaceService } from '../continuity/space/space.service';
import { checkedSettings } from '../operations/checked-settings';
import { RunningConfig } from '../platform/config/config';
import { WorkerModule } from './worker.module';

/** Pool size of a worker. Readers, the sealer, the jobs' locks and each run have other connections. */
const POOL_SIZE = 3;

/** Creates a running worker, for `npm start`, `npm run worker` and the tests. */
export async function createWorker(configured: RunningConfig): Promise<INestApplicationContext> {
  const settings = checkedSettings({ ...configured, databasePoolSize: POOL_SIZE });
  const worker = await NestFactory.createApplicationContext(WorkerModule.with(settings), {
    logger: ['fatal', 'error', 'warn'], // no messages about the assembly of the application
    abortOnError: false,
  });
  worker.useLogger(worker.get(Logger));
  await worker.get(HeartbeatService).start();
  await worker.get(SpaceService).start();
  return worker;
}
