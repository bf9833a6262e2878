import { DynamicModule, Module } from '@nestjs/common';
import { RunningConfig, SETTINGS } from './config';
import { SecretReloadService } from './secrets/secret-reload.service';

/** Provides the frozen configuration, which config.ts has read and checked, to the whole application. */
@Module({})
export class SettingsModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: SettingsModule,
      global: true,
      providers: [{ provide: SETTINGS, useValue: settings }, SecretReloadService],
      exports: [SETTINGS, SecretReloadService],
    };
  }
}
