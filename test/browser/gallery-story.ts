import { readFile } from 'node:fs/promises'
import { createChatClient } from '../../lib/client/index.ts'
import { OPERATOR } from '../../lib/index.ts'
import { LOGO, PASSWORD, type Pictured, type Story } from './pictured.ts'

/** A word of the length that names may have, and one that is written from right to left. */
const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüsselbund'
const HEBREW = 'המנוע האנליטי'

/** The ids of the places of the gallery. */
export interface Places extends Story {
  empty: string
  emptyTopics: string
  long: string
  longDirect: string
  crowded: string
  crowdedRoot: string
  hostile: string
  failed: string
  running: string
  grace_id: string
  bot_id: string
  webhook_id: string
  /** The tokens of invites: one that was revoked, and one to the service. */
  used: string
  welcome: string
  /** The token of a link that sets a new password. */
  reset: string
}

/** Adds what the story of the documentation leaves out: nothing at all, too much of all, and what went wrong. */
export async function tellMore({ url, chat, pass, asked }: Pictured, story: Story): Promise<Places> {
  const { ada, grace, alan } = story.people
  const room = async (title: string, options: object = {}) => {
    pass()
    return (await ada.conversations.create({ title, ...options })).conversation_id
  }
  const empty = await room('Nothing yet')
  const emptyTopics = await room('No topics yet', { layout: 'topics' })
  const failed = await room('Sums', { layout: 'assistant' })
  const running = await room('Poems', { layout: 'assistant' })
  await ada.messages.postRoot(failed, { role: 'assistant', content: 'What is 2 + 2?' })
  ;(await asked()).fail(new Error('The model is away'))
  await ada.messages.postRoot(running, { role: 'assistant', content: 'A poem about steam?' })
  ;(await asked()).say('Steam rises from the kettle,  \nand **then**')

  const long = await room(`${LONG} and all that belongs to it in the north room`.slice(0, 100))
  const { token = '' } = await ada.invites.create(long, {})
  const linus = createChatClient({ base_url: url })
  const email = 'maximilian@example.org'
  await linus.invites.accept({ token, username: 'maximilian', email, password: PASSWORD })
  await linus.auth.changeProfile({ display_name: `Maximilian ${LONG}`.slice(0, 100) })
  await linus.messages.postRoot(long, { content: `${LONG}${LONG}${LONG}` })
  const { message } = await linus.messages.postRoot(long, { content: `https://example.org/${'a'.repeat(300)}` })
  await ada.messages.postRoot(long, { content: 'Is that *one* word?', quote_id: message.id })
  const file = new File(['x'], `${LONG}-${LONG}.tar.gz`)
  const { id } = await linus.upload(long, file)
  await linus.messages.postRoot(long, { content: HEBREW, attachment_ids: [id] })
  const { conversation: longDirect } = await linus.conversations.direct({ username: 'ada' })
  await linus.messages.postRoot(longDirect.id, { content: `${LONG} ${LONG}` })

  const crowded = await room('Crowded')
  for (const username of ['grace', 'alan', 'maximilian']) await ada.participants.add(crowded, { username })
  for (let n = 1; n <= 70; n++) {
    if (n % 9 === 0) pass(180)
    // Her session ends without her.
    if (n % 9 === 0) await ada.auth.me()
    await [grace, alan, linus][n % 3]!.messages.postRoot(crowded, { content: `Card ${n} is punched.` })
  }
  const { message: root } = await alan.messages.postRoot(crowded, {
    title: 'The cards of March',
    content: 'Which are left?',
  })
  for (let n = 1; n <= 30; n++) {
    if (n % 4 === 0) pass()
    await [grace, alan, linus][n % 3]!.messages.reply(root.id, { content: `Card ${n}, I think. ${n % 5 ? '' : LONG}` })
  }

  const hostile = await room('Everything', { icon: '🧵' })
  for (const username of ['grace', 'alan']) await ada.participants.add(hostile, { username })
  await grace.messages.postRoot(hostile, { content: `${'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘'.repeat(6)}` })
  await grace.messages.postRoot(hostile, {
    content: `# A heading\n\nA list:\n\n- one\n  - two\n    - three\n- [ ] four\n- [x] five\n\n> A quote\n> of two lines\n\n| Card | Holes | Remark |\n| --- | ---: | --- |\n| 1 | 24 | ${LONG} |\n| 2 | 7 | – |\n\n\`\`\`ts\nconst wide = '${'='.repeat(200)}'\n\`\`\`\n\nAnd \`code\`, **bold**, *italic*, ~~struck~~, [a link](https://example.org).`,
  })
  const picture = new Uint8Array(await readFile(LOGO))
  const pictures: string[] = []
  for (let n = 1; n <= 6; n++) pictures.push((await alan.upload(hostile, new File([picture], `picture-${n}.png`))).id)
  await alan.messages.postRoot(hostile, { content: 'Six of them', attachment_ids: pictures })
  const notes = await grace.upload(hostile, new File(['Steam\n'.repeat(400)], 'notes.txt'))
  await grace.messages.postRoot(hostile, { content: '', attachment_ids: [notes.id] })
  const { message: old } = await grace.messages.postRoot(hostile, { content: 'A mistake' })
  await grace.messages.edit(old.id, { content: 'A correction' })
  const { message: gone } = await grace.messages.postRoot(hostile, { content: 'A slip' })
  await grace.messages.remove(gone.id)
  for (const emoji of ['👍', '❤', '🎉', '🚂', '😀', '🤔', '👀', '🙈', '🐎', '🍵']) {
    await grace.reactions.add(old.id, emoji)
    await alan.reactions.add(old.id, emoji)
  }
  await ada.pins.add(old.id)
  await ada.messages.postRoot(hostile, { content: 'Well 🎉' })
  await ada.messages.postRoot(hostile, { content: '🎉' })
  const { user } = await grace.auth.me()
  const actor = await chat.users.actor((await ada.auth.me()).user.id)
  await chat.keys.create(actor, { name: 'Nightly report' })
  const { bot } = await chat.bots.create(actor, { username: 'deploys', description: 'Posts what is deployed' })
  await chat.participants.add(actor, story.engine, { user_id: bot.id })
  await chat.hooks.create(actor, story.engine, { name: 'Alerts' })
  const { webhook } = await chat.webhooks.create(actor, { url: 'https://crm.example.org/events' })
  const [fresh, later] = await Promise.all(
    ['new@example.org', 'later@example.org'].map((email) => chat.newcomers.invite(actor, { email, mail: false })),
  )
  const newcomer = createChatClient({ base_url: url })
  await newcomer.newcomers.signUp({ token: fresh?.token ?? '', password: PASSWORD, display_name: 'Noor Khan' })
  await ada.conversations.setSettings(hostile, { favourite: true })
  await ada.conversations.setSettings(empty, { muted_until: 'forever' })
  for (const title of ['Rivets', 'Boilers', 'Looms', 'Gauges', 'Belts', 'Valves', 'Pistons', 'Bearings'])
    await room(title)
  const revoked = await ada.invites.create(empty, {})
  await ada.invites.revoke(revoked.token ?? '')
  return {
    ...story,
    empty,
    emptyTopics,
    long,
    longDirect: longDirect.id,
    crowded,
    crowdedRoot: root.id,
    hostile,
    failed,
    running,
    grace_id: user.id,
    bot_id: bot.id,
    webhook_id: webhook.id,
    used: revoked.token ?? '',
    welcome: later?.token ?? '',
    reset: (await chat.resets.issue(OPERATOR, { email: 'maximilian@example.org' })).token,
  }
}
