// A host that notifies people its way: Grace has its app on her telephone and gets a push, Linus gets a mail.
//
//   npx tsx examples/notify.ts
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChatService, OPERATOR, openStorage, parseConfig } from 'chat-server'

// The push service of the host, which knows people by the host's own ids.
const telephones = new Set(['grace-7'])
const push = createServer(async (request, response) => {
  const { to, title, body } = JSON.parse(Buffer.concat(await request.toArray()).toString())
  console.log(`push to ${to}: ${title} ${body}`)
  response.writeHead(204).end()
}).listen(0, '127.0.0.1')
await once(push, 'listening')
const pushUrl = `http://127.0.0.1:${(push.address() as AddressInfo).port}/send`

const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }), {
  notify: async ({ id, kind, conversation_id, excerpt }, { user_id, email, subject }) => {
    if (subject && telephones.has(subject)) {
      const response = await fetch(pushUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ to: subject, title: kind, body: excerpt ?? '' }),
        signal: AbortSignal.timeout(5_000),
      })
      if (!response.ok) throw new Error(`The push service answered ${response.status}`)
    } else if (id && email) {
      // Into the queue of all mails, which repeats what fails and leaves out what was read meanwhile.
      const link = `https://app.example.org/chat/${conversation_id}`
      await chat.notifications.sendMail(OPERATOR, { user_id, notification_id: id, link })
    }
  },
  // In place of a mail server, `mail.smtp.url`.
  mail: ({ to, text }) => console.log(`mail to ${to}:\n${text}`),
})
await chat.start()

const [ada, grace, linus] = await Promise.all(
  ['ada', 'grace', 'linus'].map(async (username) => {
    const person = { subject: `${username}-7`, username, email: `${username}@example.org` }
    const { user } = await chat.users.ensure(OPERATOR, person)
    return chat.users.actor(user.id)
  }),
)
const { conversation_id } = await chat.conversations.create(ada!, { title: 'Engines' })
for (const { user_id } of [grace!, linus!]) await chat.participants.add(ada!, conversation_id, { user_id })
await chat.messages.postRoot(ada!, conversation_id, { content: '@grace @linus Does it run?' })
await chat.idle()

await chat.close()
push.close()
