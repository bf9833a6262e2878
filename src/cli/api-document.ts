import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../app/app.module';
import { ApiDocuments, openApiDocuments } from '../app/openapi';
import { Route, routesOf } from '../app/routes';
import { newSigningKey } from '../history/log/note';
import { loadConfig, RunningConfig } from '../platform/config/config';
import { Secret } from '../platform/config/secrets/secret';

/** Returns the OpenAPI documents of the default configuration, without any connection. */
export async function describeApi(): Promise<ApiDocuments> {
  return withUnconnectedApp(openApiDocuments);
}

/** Returns all routes and the scopes that may call them, without any connection. */
export async function describeRoutes(): Promise<Route[]> {
  return withUnconnectedApp(routesOf);
}

async function withUnconnectedApp<Result>(
  describe: (app: NestFastifyApplication, settings: RunningConfig) => Result,
): Promise<Result> {
  const nowhere = 'postgresql://127.0.0.1:1/none';
  const settings = {
    ...loadConfig({}),
    databaseUrl: nowhere,
    databaseOwnerUrl: nowhere,
    upstreamBaseUrl: 'http://127.0.0.1:1',
    upstreamApiKey: new Secret('none'),
    logSigningKey: new Secret(newSigningKey('none')),
    embeddedSandbox: undefined,
  };
  const module = AppModule.with(settings);
  const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), {
    logger: false,
  });
  try {
    return describe(app, settings);
  } finally {
    await app.close(); // the timers of its services run
  }
}
