CREATE TABLE migrations (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE users (
      id TEXT PRIMARY KEY,
      email TEXT NOT NULL, email_key TEXT NOT NULL UNIQUE,
      username TEXT NOT NULL, username_key TEXT NOT NULL UNIQUE,
      display_name TEXT,
      roles TEXT NOT NULL,
      password_hash TEXT,
      disabled_at BIGINT,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL);
CREATE TABLE setup (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      done_at BIGINT NOT NULL);
CREATE TABLE sessions (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
      token_hash TEXT NOT NULL UNIQUE, csrf_hash TEXT NOT NULL,
      issued_at BIGINT NOT NULL, last_seen_at BIGINT NOT NULL,
      idle_expires_at BIGINT NOT NULL, absolute_expires_at BIGINT NOT NULL,
      user_agent TEXT, ip TEXT);
CREATE TABLE conversations (
      id TEXT PRIMARY KEY,
      title TEXT NOT NULL,
      is_group INTEGER NOT NULL,
      created_at BIGINT NOT NULL,
      clock BIGINT NOT NULL,
      last_seq BIGINT NOT NULL DEFAULT 0);
CREATE TABLE participants (
      conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
      user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
      role TEXT NOT NULL,
      joined_at BIGINT NOT NULL,
      PRIMARY KEY (conversation_id, user_id)) WITHOUT ROWID;
CREATE TABLE threads (
      root_id TEXT PRIMARY KEY,
      conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
      created_at BIGINT NOT NULL, last_activity_at BIGINT NOT NULL,
      message_count INTEGER NOT NULL, participant_count INTEGER NOT NULL,
      UNIQUE (conversation_id, last_activity_at)) WITHOUT ROWID;
CREATE TABLE thread_members (
      root_id TEXT NOT NULL REFERENCES threads ON DELETE CASCADE,
      user_id TEXT NOT NULL,
      live_count INTEGER NOT NULL DEFAULT 0,
      read_at BIGINT NOT NULL DEFAULT 0, read_count INTEGER NOT NULL DEFAULT 0,
      marked_in TEXT,
      PRIMARY KEY (root_id, user_id)) WITHOUT ROWID;
CREATE TABLE messages (
      id TEXT PRIMARY KEY,
      conversation_id TEXT NOT NULL,
      root_id TEXT NOT NULL REFERENCES threads ON DELETE CASCADE,
      parent_id TEXT,
      posted_by TEXT,
      role TEXT NOT NULL,
      content TEXT NOT NULL,
      path TEXT NOT NULL, depth INTEGER NOT NULL,
      reply_count INTEGER NOT NULL DEFAULT 0,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL, edited_at BIGINT, deleted_at BIGINT, deleted_by TEXT,
      UNIQUE (root_id, path));
CREATE TABLE message_revisions (
      message_id TEXT NOT NULL REFERENCES messages ON DELETE CASCADE,
      replaced_at BIGINT NOT NULL,
      content TEXT NOT NULL,
      reason TEXT,
      PRIMARY KEY (message_id, replaced_at));
CREATE TABLE idempotency_keys (
      user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
      name TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      message_id TEXT NOT NULL REFERENCES messages ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, name)) WITHOUT ROWID;
CREATE TABLE invites (
      id TEXT PRIMARY KEY,
      conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
      token_hash TEXT NOT NULL UNIQUE,
      created_by TEXT,
      email TEXT, email_key TEXT,
      role TEXT NOT NULL,
      uses INTEGER NOT NULL DEFAULT 0, max_uses INTEGER NOT NULL,
      created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_at BIGINT,
      CHECK (uses <= max_uses));
CREATE TABLE events (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
      seq BIGINT NOT NULL,
      type TEXT NOT NULL,
      message_id TEXT, user_id TEXT, detail TEXT,
      created_at BIGINT NOT NULL,
      UNIQUE (conversation_id, seq));
INSERT INTO migrations (id, name, checksum, applied_at) VALUES (1, '0001-foundation', 'wd8JF6E32MPspYcBnjT__1QyWxEqswTP8K98ZTHzFX4', 1795208438541000);
INSERT INTO meta (name, value) VALUES ('epoch', '01a1fac2-e30b-7bb1-8999-4841efe3b43a');
INSERT INTO users (id, email, email_key, username, username_key, display_name, roles, password_hash, disabled_at, created_at, updated_at) VALUES ('01a1fac2-e31c-7f30-aaf5-e598bebe7ead', 'ada@example.org', 'ada@example.org', 'ada', 'ada', NULL, 'admin,member', '$2b$04$LHt0HIZVpts0DOZeTL0wzeNRw8RY6jnH9rT9tT8q8fcaN2ndw6sQ2', NULL, 1795208438556000, 1795208438556000);
INSERT INTO users (id, email, email_key, username, username_key, display_name, roles, password_hash, disabled_at, created_at, updated_at) VALUES ('01a1fac2-e357-73f5-a31b-48018f70e06b', 'grace@example.org', 'grace@example.org', 'grace', 'grace', NULL, 'member', '$2b$04$UgCUHWOpLz0KiaIbUf7bfeDhzaJLwhtAlNF8YuMu1g5ZveBQ0X7l2', NULL, 1795208438615000, 1795208438615000);
INSERT INTO users (id, email, email_key, username, username_key, display_name, roles, password_hash, disabled_at, created_at, updated_at) VALUES ('01a1fac2-e37d-70d8-9317-da3434d41863', 'eve@example.org', 'eve@example.org', 'eve', 'eve', NULL, 'member', '$2b$04$c6jUdjFvwQCDbgKmZ2.mAeZ65nIbQGcmQ4orWIFlhySHn3F9r1jp.', NULL, 1795208438653000, 1795208438653000);
INSERT INTO setup (id, done_at) VALUES (1, 1795208438556000);
INSERT INTO sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip) VALUES ('01a1fac2-e336-7806-88be-345499d1dbc4', '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', '4zUWyMdzc161Xyfl2DjnWwvKL4aW3tHkA4zIIsAV6Kc', 'gD0-BWgkP3UxfDmKWuqPDebcBAYL-WP-xPT4DUWzzlg', 1795208438581000, 1795208438581000, 1795237238581000, 1795813238581000, 'node', '127.0.0.1');
INSERT INTO sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip) VALUES ('01a1fac2-e370-72c7-b3ae-905d223d66a4', '01a1fac2-e357-73f5-a31b-48018f70e06b', 'JTnrsbCDQoTexfPb45kDH3cHjmm9iCj0pA5t-mEBaTY', 'ttpDlLNUv02_fkG4PxP1V_G3DiVr0uqekNS-z7vVo5Y', 1795208438640000, 1795208438640000, 1795237238640000, 1795813238640000, 'node', '127.0.0.1');
INSERT INTO sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip) VALUES ('01a1fac2-e38b-7f01-8393-d462bfd3ef4b', '01a1fac2-e37d-70d8-9317-da3434d41863', '8H2ee0gVGHEJmUTFMSt5BLQL4P0HuPgtIfj1YWMa19A', '8bTG6DUt5yIXsTunWszX1ALbWz5cAVQ7LTt6CeD2_YI', 1795208438667000, 1795208438667000, 1795237238667000, 1795813238667000, 'node', '127.0.0.1');
INSERT INTO conversations (id, title, is_group, created_at, clock, last_seq) VALUES ('01a1fac2-e3bd-7486-a554-3c7675a0980d', 'Engines', 1, 1795208438717000, 1795208438864000, 13);
INSERT INTO participants (conversation_id, user_id, role, joined_at) VALUES ('01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', 'owner', 1795208438717000);
INSERT INTO participants (conversation_id, user_id, role, joined_at) VALUES ('01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e357-73f5-a31b-48018f70e06b', 'member', 1795208438737000);
INSERT INTO participants (conversation_id, user_id, role, joined_at) VALUES ('01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e37d-70d8-9317-da3434d41863', 'member', 1795208438852000);
INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count) VALUES ('01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e3bd-7486-a554-3c7675a0980d', 1795208438750000, 1795208438818000, 4, 2);
INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count) VALUES ('01a1fac2-e450-75c8-b1b8-ff0370da615f', '01a1fac2-e3bd-7486-a554-3c7675a0980d', 1795208438864000, 1795208438864000, 1, 1);
INSERT INTO thread_members (root_id, user_id, live_count, read_at, read_count, marked_in) VALUES ('01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', 2, 0, 0, NULL);
INSERT INTO thread_members (root_id, user_id, live_count, read_at, read_count, marked_in) VALUES ('01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e357-73f5-a31b-48018f70e06b', 2, 1795208438799000, 2, '01a1fac2-e3bd-7486-a554-3c7675a0980d');
INSERT INTO thread_members (root_id, user_id, live_count, read_at, read_count, marked_in) VALUES ('01a1fac2-e450-75c8-b1b8-ff0370da615f', '01a1fac2-e357-73f5-a31b-48018f70e06b', 1, 0, 0, NULL);
INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', NULL, '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', 'user', 'first', '10', 0, 2, 'complete', 1795208438750000, NULL, NULL, NULL);
INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-e3ff-7479-bd2d-65975530e9dc', '01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e357-73f5-a31b-48018f70e06b', 'user', 'It''s 🥊; "quoted" -- and
a new line', '1010', 1, 1, 'complete', 1795208438783000, NULL, NULL, NULL);
INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-e40f-7e85-94c3-0901a234278d', '01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e3ff-7479-bd2d-65975530e9dc', '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', 'user', 'third, edited', '101010', 2, 1, 'complete', 1795208438799000, 1795208438815000, NULL, NULL);
INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-e418-7379-bf1e-577f53cdc2c1', '01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e40f-7e85-94c3-0901a234278d', '01a1fac2-e357-73f5-a31b-48018f70e06b', 'user', 'fourth', '10101010', 3, 0, 'complete', 1795208438808000, NULL, NULL, NULL);
INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-e422-78c6-9c0a-a8bf37b3704d', '01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', 'user', 'to be deleted', '1011', 1, 0, 'complete', 1795208438818000, NULL, 1795208438827000, '01a1fac2-e31c-7f30-aaf5-e598bebe7ead');
INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at, edited_at, deleted_at, deleted_by) VALUES ('01a1fac2-e450-75c8-b1b8-ff0370da615f', '01a1fac2-e3bd-7486-a554-3c7675a0980d', '01a1fac2-e450-75c8-b1b8-ff0370da615f', NULL, '01a1fac2-e357-73f5-a31b-48018f70e06b', 'user', 'Another thread', '10', 0, 0, 'complete', 1795208438864000, NULL, NULL, NULL);
INSERT INTO message_revisions (message_id, replaced_at, content, reason) VALUES ('01a1fac2-e40f-7e85-94c3-0901a234278d', 1795208438815000, 'third', 'typo');
INSERT INTO invites (id, conversation_id, token_hash, created_by, email, email_key, role, uses, max_uses, created_at, expires_at, revoked_at) VALUES ('01a1fac2-e43d-745e-bb98-d74d763c99ee', '01a1fac2-e3bd-7486-a554-3c7675a0980d', 'TtFJG_Mok6iRH5UGVcFAMc0VfY1FGE8JkgSy4NUlNYQ', '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', NULL, NULL, 'member', 1, 2, 1795208438845000, 1795294838845000, NULL);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (1, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 1, 'membership.changed', NULL, '01a1fac2-e31c-7f30-aaf5-e598bebe7ead', '{"role":"owner","action":"added"}', 1795208438718000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (2, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 2, 'membership.changed', NULL, '01a1fac2-e357-73f5-a31b-48018f70e06b', '{"role":"member","action":"added"}', 1795208438737000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (3, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 3, 'thread.new', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', NULL, NULL, 1795208438750000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (4, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 4, 'message.new', '01a1fac2-e3de-7e25-994f-4bb35a7fe08f', NULL, NULL, 1795208438750000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (5, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 5, 'message.new', '01a1fac2-e3ff-7479-bd2d-65975530e9dc', NULL, NULL, 1795208438783000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (6, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 6, 'message.new', '01a1fac2-e40f-7e85-94c3-0901a234278d', NULL, NULL, 1795208438799000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (7, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 7, 'message.new', '01a1fac2-e418-7379-bf1e-577f53cdc2c1', NULL, NULL, 1795208438808000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (8, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 8, 'message.edited', '01a1fac2-e40f-7e85-94c3-0901a234278d', NULL, NULL, 1795208438815000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (9, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 9, 'message.new', '01a1fac2-e422-78c6-9c0a-a8bf37b3704d', NULL, NULL, 1795208438818000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (10, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 10, 'message.deleted', '01a1fac2-e422-78c6-9c0a-a8bf37b3704d', NULL, NULL, 1795208438827000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (11, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 11, 'membership.changed', NULL, '01a1fac2-e37d-70d8-9317-da3434d41863', '{"role":"member","action":"added"}', 1795208438852000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (12, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 12, 'thread.new', '01a1fac2-e450-75c8-b1b8-ff0370da615f', NULL, NULL, 1795208438864000);
INSERT INTO events (id, conversation_id, seq, type, message_id, user_id, detail, created_at) VALUES (13, '01a1fac2-e3bd-7486-a554-3c7675a0980d', 13, 'message.new', '01a1fac2-e450-75c8-b1b8-ff0370da615f', NULL, NULL, 1795208438864000);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (name, seq) VALUES ('events', 13);
CREATE INDEX sessions_of_user ON sessions (user_id, issued_at);
CREATE INDEX participations_of_user ON participants (user_id);
CREATE INDEX marks_of_reader ON thread_members (user_id, marked_in, read_at) WHERE marked_in IS NOT NULL;
CREATE INDEX messages_by_arrival ON messages (root_id, created_at, posted_by) WHERE deleted_at IS NULL;
CREATE INDEX idempotency_keys_of_message ON idempotency_keys (message_id);
CREATE INDEX invites_of_conversation ON invites (conversation_id, created_at);
