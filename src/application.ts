/** What the start needs of the application: in one file, so that it can be loaded while other things are waited for. */
export { createApp } from './app';
export { ClientsService } from './clients/clients.service';
export { DemoClientsService } from './clients/demo-clients.service';
export { ReadinessService } from './health/readiness.service';
