/** What the start needs of the application: in one file, so that it can be loaded while other things are waited for. */
export { createApp } from './app';
export { ClientsService } from '../access/clients/clients.service';
export { DemoClientsService } from '../access/clients/demo-clients.service';
export { ReadinessService } from '../http/health/readiness.service';
