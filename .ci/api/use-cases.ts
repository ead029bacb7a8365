import { FUNCTIONS, LOOPS, USE_CASES } from '../../lib/features.ts'
import { modulesBelow } from './project.ts'

/** Where each use-case, and each function beside them, is written. */
export async function loadUseCases(): Promise<Map<unknown, { file: string; name: string }>> {
  const wanted = new Set(
    [USE_CASES, FUNCTIONS, LOOPS]
      .flatMap((each) => Object.values(each))
      .flatMap((each) => Object.values<unknown>(each)),
  )
  const found = new Map<unknown, { file: string; name: string }>()
  const folders = [
    'accounts',
    'chat',
    'cluster',
    'erasure',
    'merging',
    'guests',
    'integrations',
    'limits',
    'mail',
    'mcp',
    'openai-api',
    'ops',
    'protocols',
    'tasks',
    'well-known',
  ]
  for (const folder of folders) {
    const mayHave = (path: string) => path.endsWith('.ts') && !path.endsWith('routes.ts')
    for await (const [file, module] of modulesBelow(`lib/${folder}`, mayHave))
      for (const [name, value] of Object.entries(module))
        if (wanted.has(value as never) && !found.has(value)) found.set(value, { file, name })
  }
  return found
}
