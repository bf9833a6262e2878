import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { RunningConfig } from './config/config';

const DESCRIPTION = `The upstream's interface under \`/api/v0.1\`, made safe: the same requests and answers, with a key of
ours. Every request and response is recorded; \`/v1\` reads the record.

Every answer carries \`X-Request-Id\` (yours, or one we made), \`X-Call-Id\` (the record's id) and \`Server-Timing\`.
Errors say what to do: below \`/api/v0.1\` in the interface's envelope, elsewhere as RFC 9457 problem details.`;

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean;
}

/** The OpenAPI 3.1 document of the application as it is configured. */
export function openApiDocument(
  app: NestFastifyApplication,
  { maxItems }: Pick<RunningConfig, 'maxItems'>,
): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('payout-proxy')
    .setVersion('0.1')
    .setDescription(DESCRIPTION)
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'key')
    .build();
  const document = SwaggerModule.createDocument(app, config);
  for (const { post } of Object.values(document.paths)) {
    const body = post?.requestBody as { content?: Record<string, { schema?: Schema }> } | undefined;
    for (const { schema } of Object.values(body?.content ?? {})) describeBody(schema, document, maxItems);
  }
  return document;
}

/** What the decorators cannot say: unknown fields are refused, and how long a list may be is configured. */
function describeBody(schema: Schema | undefined, document: OpenAPIObject, maxItems: number): void {
  const name = schema?.$ref?.split('/').at(-1) ?? '';
  const body = document.components?.schemas?.[name] as Schema | undefined;
  if (!body) return;
  body.additionalProperties = false;
  for (const property of Object.values(body.properties ?? {})) {
    if (property.items) property.maxItems = maxItems;
    describeBody(property.items, document, maxItems);
  }
}

/** `/docs` for people, `/openapi.json` for programs. */
export function serveDocs(app: NestFastifyApplication, settings: RunningConfig): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app, settings), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'payout-proxy',
  });
}
