import type { AssistantConfig } from '../config/assistants.ts'
import { splitHeader } from '../core/headers.ts'
import { createEcho } from './echo.ts'
import { createOpenAi } from './openai/provider.ts'
import type { Assistant } from './provider.ts'

/** The assistant of the configured provider; `undefined` if there is none. */
export function createAssistant({
  provider = 'echo',
  base_url,
  model,
  api_key,
  headers,
  images,
  text_files,
}: Pick<AssistantConfig, 'provider' | 'base_url' | 'model' | 'api_key' | 'headers' | 'images' | 'text_files'>):
  | Assistant
  | undefined {
  if (provider === 'none') return undefined
  if (provider === 'echo') return createEcho()
  // `parseConfig` refuses `openai` without a model.
  return createOpenAi({ base_url, model: model!, api_key, headers: headers.map(splitHeader), images, text_files })
}
