import { DynamicModule, Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { RunningConfig, SETTINGS } from './config';
import { SecretReloadService } from './secret-reload.service';

/**
 * The content of the application's ConfigService. `config.get('settings', { infer: true })` returns all of it, typed.
 */
export interface Loaded {
  settings: RunningConfig;
}

/** Provides the frozen configuration to the whole application. */
@Module({})
export class SettingsModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: SettingsModule,
      global: true,
      providers: [SecretReloadService, { provide: SETTINGS, useValue: settings }],
      exports: [SecretReloadService, SETTINGS],
      // config.ts has already read, checked and completed the environment.
      imports: [
        ConfigModule.forRoot({
          isGlobal: true,
          ignoreEnvFile: true,
          skipProcessEnv: true,
          load: [() => ({ settings })],
        }),
      ],
    };
  }
}
