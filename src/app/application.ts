/** The application in one file, so that the start can load it while it waits for its dependencies. */
export { createApp } from './app';
export { recordConfiguration } from './start/record-configuration';
export { ClientsService } from '../access/clients/clients.service';
export { DemoClientsService } from '../access/clients/demo-clients.service';
export { DualControlService } from '../access/dual-control/dual-control.service';
export { serveMetrics } from '../http/health/private-port';
export { ReadinessService } from '../http/health/readiness.service';
