import { expect, inject, it, onTestFinished } from 'vitest'
import { createPostgresDatabase } from '../support/databases.ts'
import { codeOf, startService } from '../support/service.ts'

// On SQLite no statement has a time limit.
it.skipIf(!inject('postgres_url'))('a conversation may take as long to delete as it does', async () => {
  const database = await createPostgresDatabase()
  const service = await startService(database.url)
  onTestFinished(() => service.close().then(database.remove))
  const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
  const create = async (who: typeof ada) => (await who.createConversation({})).conversation_id
  const [one, other] = [await create(ada), await create(grace)]

  const { db } = service.chat.context
  await db.run(`CREATE FUNCTION refuse_haste() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF current_setting('statement_timeout') <> '0' THEN RAISE EXCEPTION 'hasty'; END IF;
      RETURN OLD;
    END $$`)
  await db.run('CREATE TRIGGER haste BEFORE DELETE ON conversations FOR EACH ROW EXECUTE FUNCTION refuse_haste()')
  await ada.deleteConversation({ params: { conversation_id: one } })
  await ada.eraseUser({ params: { user_id: grace.id }, query: {} })
  for (const conversation_id of [one, other])
    expect(await codeOf(ada.readConversation({ params: { conversation_id } }))).toBe('not_found')
  expect(await db.all('SELECT id FROM conversations')).toEqual([])
})
