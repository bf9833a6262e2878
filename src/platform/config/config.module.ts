import { DynamicModule, Module } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { RunningConfig, SETTINGS } from './config';
import { SecretReloadService } from './secrets/secret-reload.service';

/** Provides the frozen configuration to the whole application. */
@Module({})
export class SettingsModule {
  static with(settings: RunningConfig): DynamicModule {
    const namespace = registerAs('settings', () => settings);
    return {
      module: SettingsModule,
      global: true,
      // Commands import the token from config.ts, without the packages of this module.
      providers: [{ provide: SETTINGS, useExisting: namespace.KEY }, SecretReloadService],
      exports: [SETTINGS, SecretReloadService],
      // config.ts has already read, checked and completed the environment.
      imports: [
        ConfigModule.forRoot({
          isGlobal: true,
          ignoreEnvFile: true,
          skipProcessEnv: true,
          load: [namespace],
        }),
      ],
    };
  }
}
