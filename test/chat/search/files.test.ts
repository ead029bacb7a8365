import { beforeAll, expect, it } from 'vitest'
import { sweepFiles } from '../../../lib/chat/attachments/sweep.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, type Person, times } from '../../support/service.ts'
import { type Bytes, bytesFor, startWithFiles, upload } from '../attachments/files.ts'

describeOnEachDatabase('a search for files', (openUrl) => {
  const service = setUpService(async () => {
    const ports = {
      scan: async ({ attachment }: { attachment: { name: string } }) => {
        await held
        return { verdict: attachment.name.startsWith('refused') ? ('refused' as const) : ('clean' as const) }
      },
    }
    const config = { attachments: { deleted_days: 0, scan: 'after' }, search: { per_user_per_min: 10_000 } }
    return startWithFiles(await openUrl(), { config, ports })
  })
  let ada: Person
  let bytes: Bytes
  let place: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    bytes = await bytesFor(service, ada)
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
  })

  let held: Promise<void> | undefined
  const file = (name: string) => upload(ada, bytes, place, { name })
  const post = async (content: string, ...names: string[]) => {
    const attachment_ids = await Promise.all(names.map(file))
    return (await ada.messages.postRoot(place, { content, attachment_ids })).message_id
  }
  const find = async (q: string) => (await ada.search.messages({ q })).results.map(({ message }) => message.id)
  /** Checks what is found before and after the index has it. */
  const bothWays = async (check: () => Promise<void>) => {
    await check()
    await service.idle()
    expect(await service.chat.search.status(OPERATOR)).toMatchObject({ waiting: 0 })
    await check()
  }

  it('finds messages by the names of their files, in any language, with an excerpt', async () => {
    const id = await post('', 'Übersicht_京都.pdf', 'Übersicht walrus.txt')
    const bare = await post('walrus')
    await bothWays(async () => {
      for (const q of ['ubersicht', '都', '"übersicht 京都"', 'walrus pdf', 'txt', 'wal*', 'has:file walrus'])
        expect([q, await find(q)]).toEqual([q, q === 'wal*' ? [bare, id] : [id]])
      // Words of two names are not next to each other.
      expect(await find('"pdf übersicht"')).toEqual([])
      expect(await find('walrus -pdf')).toEqual([bare])
      expect(await find('walrus')).toEqual([bare, id])
      const { results } = await ada.search.messages({ q: 'übersicht walrus', in: place, has: 'file' })
      expect(results.map(({ excerpts }) => excerpts)).toEqual([
        [{ field: 'attachment', text: 'Übersicht_京都.pdf', ranges: [[0, 9]] }],
      ])
    })
  })

  /** As many different words, of four letters. */
  const wordsOf = (count: number) =>
    times(count, (n) => times(4, (at) => String.fromCharCode(97 + (Math.floor(n / 26 ** at) % 26))).join('')).join(' ')

  it('finds words of the text and of a name together, and the name behind a text of many words', async () => {
    const id = await post(`ocelot ${wordsOf(10_500)}`, 'marmot.txt')
    await bothWays(async () => {
      expect(await find('ocelot marmot')).toEqual([id])
      const { results } = await ada.search.messages({ q: 'ocelot marmot' })
      expect(results[0]!.excerpts.map(({ field }) => field)).toEqual(['content', 'attachment'])
    })
  })

  it('follows edits that replace the files, deletions and restores', async () => {
    const id = await post('tapir', 'first quokka.txt')
    await ada.messages.edit(id, { content: 'tapir', attachment_ids: [await file('second quokka.txt')] })
    await bothWays(async () => {
      expect(await find('first quokka')).toEqual([])
      expect(await find('second quokka')).toEqual([id])
    })
    await ada.messages.edit(id, { content: 'okapi' })
    await bothWays(async () => expect(await find('okapi quokka')).toEqual([id]))
    await ada.messages.edit(id, { content: 'okapi', attachment_ids: [] })
    await bothWays(async () => {
      expect(await find('quokka')).toEqual([])
      expect(await find('okapi has:file')).toEqual([])
    })
    await ada.messages.edit(id, { content: 'okapi', attachment_ids: [await file('third quokka.txt')] })
    await ada.messages.remove(id)
    await bothWays(async () => expect(await find('quokka')).toEqual([]))
    await sweepFiles(innerState(service), { after: '' })
    await ada.messages.restore(id)
    // The bytes are gone; the message still shows the name.
    expect((await ada.messages.get(id)).attachments).toMatchObject([{ status: 'gone', name: 'third quokka.txt' }])
    await bothWays(async () => expect(await find('quokka has:file')).toEqual([id]))
  })

  it('finds a file that was refused later, which the message still shows', async () => {
    let release = () => {}
    held = new Promise((resolve) => (release = resolve))
    const id = await post('', 'refused gecko.exe')
    release()
    await bothWays(async () => expect(await find('gecko has:file')).toEqual([id]))
    expect((await ada.messages.get(id)).attachments).toMatchObject([{ status: 'refused' }])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
