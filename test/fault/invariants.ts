import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'

/** The inconsistencies of a database, as lines. */
export async function inconsistenciesIn(url: string, config: object = {}): Promise<string[]> {
  const chat = createChatService(parseConfig(config), await openStorage({ database: url }))
  try {
    await chat.start({ background: false, changed: true })
    const { findings } = await chat.ops.fsck()
    return findings
      .filter(({ note }) => !note)
      .map(({ name, count, examples }) => `${name}: ${count}, as ${examples.join(', ')}`)
  } finally {
    await chat.close()
  }
}
