CREATE TABLE public.conversations (
    id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    is_group integer NOT NULL,
    created_at bigint NOT NULL,
    clock bigint NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.events (
    id bigint NOT NULL,
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    type text NOT NULL,
    message_id text COLLATE pg_catalog."C",
    user_id text COLLATE pg_catalog."C",
    detail text,
    created_at bigint NOT NULL,
    feed bigint
);
CREATE SEQUENCE public.event_feed
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.event_feed OWNED BY public.events.feed;
ALTER TABLE public.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.idempotency_keys (
    user_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    request_hash text NOT NULL,
    message_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE public.invites (
    id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    created_by text COLLATE pg_catalog."C",
    email text,
    email_key text COLLATE pg_catalog."C",
    role text NOT NULL,
    uses integer DEFAULT 0 NOT NULL,
    max_uses integer NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    CONSTRAINT invites_check CHECK ((uses <= max_uses))
);
CREATE TABLE public.message_revisions (
    message_id text NOT NULL COLLATE pg_catalog."C",
    replaced_at bigint NOT NULL,
    content text NOT NULL,
    reason text
);
CREATE TABLE public.messages (
    id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    root_id text NOT NULL COLLATE pg_catalog."C",
    parent_id text COLLATE pg_catalog."C",
    posted_by text COLLATE pg_catalog."C",
    role text NOT NULL,
    content text NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    depth integer NOT NULL,
    reply_count integer DEFAULT 0 NOT NULL,
    status text NOT NULL,
    created_at bigint NOT NULL,
    edited_at bigint,
    deleted_at bigint,
    deleted_by text COLLATE pg_catalog."C"
);
CREATE TABLE public.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);
CREATE TABLE public.migrations (
    id integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at bigint NOT NULL
);
CREATE TABLE public.participants (
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    joined_at bigint NOT NULL
);
CREATE TABLE public.sessions (
    id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    csrf_hash text NOT NULL COLLATE pg_catalog."C",
    issued_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    idle_expires_at bigint NOT NULL,
    absolute_expires_at bigint NOT NULL,
    user_agent text,
    ip text
);
CREATE TABLE public.setup (
    id integer NOT NULL,
    done_at bigint NOT NULL,
    CONSTRAINT setup_id_check CHECK ((id = 1))
);
CREATE TABLE public.thread_members (
    root_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C",
    live_count integer DEFAULT 0 NOT NULL,
    read_at bigint DEFAULT 0 NOT NULL,
    read_count integer DEFAULT 0 NOT NULL,
    marked_in text COLLATE pg_catalog."C"
);
CREATE TABLE public.threads (
    root_id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    last_activity_at bigint NOT NULL,
    message_count integer NOT NULL,
    participant_count integer NOT NULL
);
CREATE TABLE public.users (
    id text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL,
    email_key text NOT NULL COLLATE pg_catalog."C",
    username text NOT NULL,
    username_key text NOT NULL COLLATE pg_catalog."C",
    display_name text,
    roles text NOT NULL,
    password_hash text,
    disabled_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
INSERT INTO public.conversations (id, title, is_group, created_at, clock, last_seq) VALUES ('01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 'Engines', 1, 1795208441406000, 1795208441567000, 13);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (1, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 1, 'membership.changed', NULL, '01a1fac2-edf2-70d4-92ae-29ff99816884', '{"role":"owner","action":"added"}', 1795208441408000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (2, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 2, 'membership.changed', NULL, '01a1fac2-ee13-745a-bfc3-576530bb1c30', '{"role":"member","action":"added"}', 1795208441439000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (3, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 3, 'thread.new', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', NULL, NULL, 1795208441453000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (4, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 4, 'message.new', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', NULL, NULL, 1795208441453000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (5, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 5, 'message.new', '01a1fac2-ee81-7c6c-99f3-a32e47c4968d', NULL, NULL, 1795208441473000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (6, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 6, 'message.new', '01a1fac2-ee92-7eff-a49d-3257cb9a9d31', NULL, NULL, 1795208441489000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (7, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 7, 'message.new', '01a1fac2-ee9c-7b56-a380-390bbe4d4a6d', NULL, NULL, 1795208441499000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (8, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 8, 'message.edited', '01a1fac2-ee92-7eff-a49d-3257cb9a9d31', NULL, NULL, 1795208441511000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (9, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 9, 'message.new', '01a1fac2-eeb0-703a-98f2-f3f550bc6afa', NULL, NULL, 1795208441520000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (10, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 10, 'message.deleted', '01a1fac2-eeb0-703a-98f2-f3f550bc6afa', NULL, NULL, 1795208441528000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (11, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 11, 'membership.changed', NULL, '01a1fac2-ee23-7886-b309-3ba7414ddde2', '{"role":"member","action":"added"}', 1795208441554000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (12, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 12, 'thread.new', '01a1fac2-eedf-7627-bbef-5f2304c24bfa', NULL, NULL, 1795208441567000, NULL);
INSERT INTO public.events (id, conversation_id, seq, type, message_id, user_id, detail, created_at, feed) OVERRIDING SYSTEM VALUE VALUES (13, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 13, 'message.new', '01a1fac2-eedf-7627-bbef-5f2304c24bfa', NULL, NULL, 1795208441567000, NULL);
INSERT INTO public.invites (id, conversation_id, token_hash, created_by, email, email_key, role, uses, max_uses, created_at, expires_at, revoked_at) VALUES ('01a1fac2-eecc-7070-bda5-e47bc1a49dd8', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 'o5bw4nvQYF5gTRK13nxDCa09lgAl6h4NhXam0a0RLSg', '01a1fac2-edf2-70d4-92ae-29ff99816884', NULL, NULL, 'member', 1, 2, 1795208441548000, 1795294841548000, NULL);
INSERT INTO public.message_revisions (message_id, replaced_at, content, reason) VALUES ('01a1fac2-ee92-7eff-a49d-3257cb9a9d31', 1795208441511000, 'third', 'typo');
INSERT INTO public.messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-ee81-7c6c-99f3-a32e47c4968d', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee13-745a-bfc3-576530bb1c30', 'user', 'It''s 🥊; "quoted" -- and
a new line', '1010', 1, 1, 'complete', 1795208441473000, NULL, NULL, NULL);
INSERT INTO public.messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-ee9c-7b56-a380-390bbe4d4a6d', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee92-7eff-a49d-3257cb9a9d31', '01a1fac2-ee13-745a-bfc3-576530bb1c30', 'user', 'fourth', '10101010', 3, 0, 'complete', 1795208441499000, NULL, NULL, NULL);
INSERT INTO public.messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-ee92-7eff-a49d-3257cb9a9d31', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee81-7c6c-99f3-a32e47c4968d', '01a1fac2-edf2-70d4-92ae-29ff99816884', 'user', 'third, edited', '101010', 2, 1, 'complete', 1795208441489000, 1795208441511000, NULL, NULL);
INSERT INTO public.messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', NULL, '01a1fac2-edf2-70d4-92ae-29ff99816884', 'user', 'first', '10', 0, 2, 'complete', 1795208441453000, NULL, NULL, NULL);
INSERT INTO public.messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-eeb0-703a-98f2-f3f550bc6afa', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-edf2-70d4-92ae-29ff99816884', 'user', 'to be deleted', '1011', 1, 0, 'complete', 1795208441520000, NULL, 1795208441528000, '01a1fac2-edf2-70d4-92ae-29ff99816884');
INSERT INTO public.messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-eedf-7627-bbef-5f2304c24bfa', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-eedf-7627-bbef-5f2304c24bfa', NULL, '01a1fac2-ee13-745a-bfc3-576530bb1c30', 'user', 'Another thread', '10', 0, 0, 'complete', 1795208441567000, NULL, NULL, NULL);
INSERT INTO public.meta (name, value) VALUES ('epoch', '01a1fac2-ede9-7d38-b1ec-89ce2219e215');
INSERT INTO public.migrations (id, name, checksum, applied_at) VALUES (1, '0001-foundation', 'yqRs6cRguZ7lxper1yO3XWEMibP0KVjDlrAHTElFKTU', 1795208441321000);
INSERT INTO public.participants (conversation_id, user_id, role, joined_at) VALUES ('01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-edf2-70d4-92ae-29ff99816884', 'owner', 1795208441406000);
INSERT INTO public.participants (conversation_id, user_id, role, joined_at) VALUES ('01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-ee13-745a-bfc3-576530bb1c30', 'member', 1795208441439000);
INSERT INTO public.participants (conversation_id, user_id, role, joined_at) VALUES ('01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', '01a1fac2-ee23-7886-b309-3ba7414ddde2', 'member', 1795208441554000);
INSERT INTO public.sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip) VALUES ('01a1fac2-ee09-71d0-ae8a-ddfb63983839', '01a1fac2-edf2-70d4-92ae-29ff99816884', 'ZXM5N-RjHJfluo4f36zxoZqQY1cKSrj2K8HHL9dlYTE', 'nFx3pfBrCzaDVut8I7b2jP21jH_AojbjIo3W2LUoQ88', 1795208441353000, 1795208441353000, 1795237241353000, 1795813241353000, 'node', '127.0.0.1');
INSERT INTO public.sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip) VALUES ('01a1fac2-ee18-7bf9-8680-f7240bce21a5', '01a1fac2-ee13-745a-bfc3-576530bb1c30', '0s6jS2bsRXBq72_TuzbWNEpaocdA2148f6bj1q6HpLg', 'XwgmBnWItAT9AeacFxNllx3PsQVy_IpQ7vxn0LsnIWg', 1795208441368000, 1795208441368000, 1795237241368000, 1795813241368000, 'node', '127.0.0.1');
INSERT INTO public.sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip) VALUES ('01a1fac2-ee33-75c8-9ff4-baed4e77881a', '01a1fac2-ee23-7886-b309-3ba7414ddde2', 'NI03zIzOeh4MKu2KugRImhXuIVyWK240WGlWXmcYv6Q', 'M5K7cWhHzaAsmOgsTREcDgN5ngEco-0JkPi-QUkYPOY', 1795208441395000, 1795208441395000, 1795237241395000, 1795813241395000, 'node', '127.0.0.1');
INSERT INTO public.setup (id, done_at) VALUES (1, 1795208441328000);
INSERT INTO public.thread_members (root_id, user_id, live_count, read_at, read_count, marked_in) VALUES ('01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-edf2-70d4-92ae-29ff99816884', 2, 0, 0, NULL);
INSERT INTO public.thread_members (root_id, user_id, live_count, read_at, read_count, marked_in) VALUES ('01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee13-745a-bfc3-576530bb1c30', 2, 1795208441489000, 2, '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47');
INSERT INTO public.thread_members (root_id, user_id, live_count, read_at, read_count, marked_in) VALUES ('01a1fac2-eedf-7627-bbef-5f2304c24bfa', '01a1fac2-ee13-745a-bfc3-576530bb1c30', 1, 0, 0, NULL);
INSERT INTO public.threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count) VALUES ('01a1fac2-ee6d-7fbb-b294-659bd6135cf0', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 1795208441453000, 1795208441520000, 4, 2);
INSERT INTO public.threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count) VALUES ('01a1fac2-eedf-7627-bbef-5f2304c24bfa', '01a1fac2-ee3e-7846-bcf5-a4df3f06bf47', 1795208441567000, 1795208441567000, 1, 1);
INSERT INTO public.users (id, email, email_key, username, username_key, display_name, roles, password_hash, disabled_at, created_at, updated_at) VALUES ('01a1fac2-edf2-70d4-92ae-29ff99816884', 'ada@example.org', 'ada@example.org', 'ada', 'ada', NULL, 'admin,member', '$2b$04$pwpHngUbVL0nOZsH0AZjVuR5DzFOfEc.swsrP0nj4NunD34yFA24e', NULL, 1795208441330000, 1795208441330000);
INSERT INTO public.users (id, email, email_key, username, username_key, display_name, roles, password_hash, disabled_at, created_at, updated_at) VALUES ('01a1fac2-ee13-745a-bfc3-576530bb1c30', 'grace@example.org', 'grace@example.org', 'grace', 'grace', NULL, 'member', '$2b$04$EbnRYWkZOWmOktmm6V16.ObRd8DBP/BzuAYMR5nRZIWrrHvcU5CLy', NULL, 1795208441363000, 1795208441363000);
INSERT INTO public.users (id, email, email_key, username, username_key, display_name, roles, password_hash, disabled_at, created_at, updated_at) VALUES ('01a1fac2-ee23-7886-b309-3ba7414ddde2', 'eve@example.org', 'eve@example.org', 'eve', 'eve', NULL, 'member', '$2b$04$xRHNQ4UgMGAuQ464G5TlceSnjXxpOcAFewyncSFMnU0is4.kS0.L.', NULL, 1795208441379000, 1795208441379000);
SELECT pg_catalog.setval('public.event_feed', 1, false);
SELECT pg_catalog.setval('public.events_id_seq', 13, true);
ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_conversation_id_seq_key UNIQUE (conversation_id, seq);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_feed_key UNIQUE (feed);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, name);
ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.message_revisions
    ADD CONSTRAINT message_revisions_pkey PRIMARY KEY (message_id, replaced_at);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_root_id_path_key UNIQUE (root_id, path);
ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.participants
    ADD CONSTRAINT participants_pkey PRIMARY KEY (conversation_id, user_id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.setup
    ADD CONSTRAINT setup_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.thread_members
    ADD CONSTRAINT thread_members_pkey PRIMARY KEY (root_id, user_id);
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_conversation_id_last_activity_at_key UNIQUE (conversation_id, last_activity_at);
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_pkey PRIMARY KEY (root_id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_key_key UNIQUE (email_key);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_username_key_key UNIQUE (username_key);
CREATE INDEX events_without_feed ON public.events USING btree (id) WHERE (feed IS NULL);
CREATE INDEX idempotency_keys_of_message ON public.idempotency_keys USING btree (message_id);
CREATE INDEX invites_of_conversation ON public.invites USING btree (conversation_id, created_at);
CREATE INDEX marks_of_reader ON public.thread_members USING btree (user_id, marked_in, read_at) WHERE (marked_in IS NOT NULL);
CREATE INDEX messages_by_arrival ON public.messages USING btree (root_id, created_at, posted_by) WHERE (deleted_at IS NULL);
CREATE INDEX participations_of_user ON public.participants USING btree (user_id);
CREATE INDEX sessions_of_user ON public.sessions USING btree (user_id, issued_at);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_message_id_fkey FOREIGN KEY (message_id) REFERENCES public.messages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.message_revisions
    ADD CONSTRAINT message_revisions_message_id_fkey FOREIGN KEY (message_id) REFERENCES public.messages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_root_id_fkey FOREIGN KEY (root_id) REFERENCES public.threads(root_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.participants
    ADD CONSTRAINT participants_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.participants
    ADD CONSTRAINT participants_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.thread_members
    ADD CONSTRAINT thread_members_root_id_fkey FOREIGN KEY (root_id) REFERENCES public.threads(root_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE CASCADE;
