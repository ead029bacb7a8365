import { contextOf } from '../../lib/core/context-of.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { fsck } from '../../lib/ops/fsck/fsck.ts'

/** The inconsistencies of a database, as lines. No service is started: the schema may be that of a newer version. */
export async function inconsistenciesIn(url: string, config: object = {}): Promise<string[]> {
  const chat = createChatService(parseConfig(config), await openStorage({ database: url }))
  try {
    const { findings } = await fsck(contextOf(chat))
    return findings
      .filter(({ note }) => !note)
      .map(({ name, count, examples }) => `${name}: ${count}, as ${examples.join(', ')}`)
  } finally {
    await chat.close()
  }
}
