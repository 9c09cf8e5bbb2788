"""What is read of Cursor's databases: each row is one message, or what one conversation is.

Nothing else is asked for: `cursorAuth/*` is no key of these queries, and encryption keys that stand
in a conversation's own row are taken out by SQL, before anything is read.
"""
# ruff: noqa: S608  (the parts are constants of this module; what varies is bound)

from __future__ import annotations

from ultracontext.formats import Query

SHIFT = 24
"""A row that holds several messages gives several cursors: rowid, then the place in the row."""

# ---- store.db of `cursor-agent` ----------------------------------------------------------------
# Messages are JSON, or protobuf in 2025; a root begins with a 32-byte id in field 1 (0A 20).
_BLOB = """
SELECT rowid,
  CASE WHEN CAST(substr(data, 1, 1) AS TEXT) = '{'
         OR (CAST(substr(data, 1, 2) AS BLOB) <> x'0A20'
             AND json_type(protobuf(CAST(data AS BLOB)), '$."1"[0]') = 'text')
       THEN id END,
  CASE WHEN CAST(substr(data, 1, 1) AS TEXT) = '{' THEN data
       ELSE json_object('protobuf', json(protobuf(CAST(data AS BLOB)))) END
FROM blobs WHERE rowid > :cursor ORDER BY rowid LIMIT :limit
"""

# The order is kept by the first 16 digits of each id: a new root comes with every message.
_META = """
WITH m AS (
  SELECT rowid AS r, coalesce(CAST(unhex(value) AS TEXT), value) AS j FROM meta
  WHERE key = '0' AND rowid > :cursor),
v AS (
  SELECT r, json_remove(j, '$.blobEncryptionKey') AS j,
    (SELECT protobuf(CAST(data AS BLOB)) FROM blobs
     WHERE id = json_extract(j, '$.latestRootBlobId')) AS top
  FROM m WHERE json_valid(j))
SELECT r, 'meta', json_set(j,
  '$.order', json((
    SELECT json_group_array(substr(e.value, 1, 16)) FROM json_each(top, '$."1"') e)),
  '$.workspace', json_extract(top, '$."9"[0]'))
FROM v ORDER BY r LIMIT :limit
"""

STORE = (Query(name="meta", sql=_META), Query(name="blob", sql=_BLOB))
"""The row that names the conversation comes first."""

# ---- state.vscdb of the IDE --------------------------------------------------------------------
# By rowid, as a replaced row gets a new one; the key is looked at before the value is.
_BUBBLE = """
SELECT rowid,
  CASE WHEN key >= 'bubbleId:' AND key < 'bubbleId;' AND value IS NOT NULL THEN key END,
  CASE WHEN key >= 'bubbleId:' AND key < 'bubbleId;' THEN value END
FROM cursorDiskKV NOT INDEXED WHERE rowid > :cursor ORDER BY rowid LIMIT :limit
"""

_CONVERSATIONS = """
WITH s AS (
  SELECT rowid AS r FROM cursorDiskKV
  WHERE key >= 'composerData:' AND key < 'composerData;' AND rowid {after}
  ORDER BY rowid LIMIT :limit),
c AS (
  SELECT s.r AS r, k.key AS key,
    CASE WHEN json_valid(CAST(k.value AS TEXT)) THEN CAST(k.value AS TEXT) ELSE '{{}}' END AS v
  FROM s JOIN cursorDiskKV k ON k.rowid = s.r)
"""

_COMPOSER = (
    _CONVERSATIONS.format(after="> :cursor")
    + """
SELECT r,
  CASE WHEN coalesce(json_array_length(v, '$.fullConversationHeadersOnly'), 0) > 0
         OR coalesce(json_array_length(v, '$.conversation'), 0) > 0
         OR coalesce(json_extract(v, '$.conversationMap'), '{}') <> '{}' THEN key END,
  json_set(
    json_remove(v,
      '$.blobEncryptionKey', '$.speculativeSummarizationEncryptionKey', '$.conversationState',
      '$.fullConversationHeadersOnly', '$.conversation', '$.conversationMap', '$.richText',
      '$.text', '$.codeBlockData', '$.originalFileStates', '$.context', '$.capabilities',
      '$.generatingBubbleIds', '$.usageData', '$.contextUsagePercent', '$.promptTokenBreakdown'),
    '$.order', json((
      SELECT json_group_array(json_extract(h.value, '$.bubbleId')) FROM json_each(v,
        CASE WHEN coalesce(json_array_length(v, '$.fullConversationHeadersOnly'), 0) > 0
             THEN '$.fullConversationHeadersOnly' ELSE '$.conversation' END) h)))
FROM c ORDER BY r
"""
)

_INLINE = (
    _CONVERSATIONS.format(after=f">= (:cursor >> {SHIFT})")
    + f"""
SELECT (r << {SHIFT}) + coalesce(h.id, 0) AS place,
  CASE WHEN h.id IS NOT NULL THEN
    'inline:' || substr(c.key, 14) || ':' || coalesce(json_extract(h.value, '$.bubbleId'), h.key)
  END,
  h.value
FROM c LEFT JOIN json_each(v,
  CASE WHEN json_array_length(v, '$.conversation') > 0 THEN '$.conversation'
       ELSE '$.conversationMap' END) h ON h.type = 'object'
WHERE place > :cursor ORDER BY place
"""
)

_VOLATILE = """
  '$.lastUpdatedAt', '$.conversationCheckpointLastUpdatedAt', '$.hasUnreadMessages',
  '$.hasBlockingPendingActions', '$.contextUsagePercent', '$.totalLinesAdded',
  '$.totalLinesRemoved', '$.filesChangedCount', '$.subtitle'"""

_HEAD = f"""
WITH i AS (
  SELECT rowid AS r, key, CAST(value AS TEXT) AS v FROM ItemTable
  WHERE key IN ('composer.composerHeaders', 'composer.composerData'))
SELECT (i.r << {SHIFT}) + h.id AS place,
  CASE WHEN coalesce(json_extract(h.value, '$.name'), '') <> '' {{known}}
       THEN 'head:' || json_extract(h.value, '$.composerId') END,
  json_remove(h.value, {_VOLATILE})
FROM i JOIN json_each(CASE WHEN json_valid(i.v) THEN i.v ELSE '{{{{}}}}' END, '$.allComposers') h
  ON h.type = 'object'
WHERE place > :cursor ORDER BY place LIMIT :limit
"""

_KNOWN = """
  AND (i.key = 'composer.composerData' OR EXISTS (SELECT 1 FROM cursorDiskKV k
       WHERE k.key = 'composerData:' || json_extract(h.value, '$.composerId')))"""

_ROW = f"""
SELECT rowid,
  CASE WHEN json_valid(CAST(value AS TEXT)) AND EXISTS (SELECT 1 FROM cursorDiskKV k
       WHERE k.key = 'composerData:' || composerId) THEN 'row:' || composerId END,
  CASE WHEN json_valid(CAST(value AS TEXT)) THEN json_remove(CAST(value AS TEXT), {_VOLATILE}) END
FROM composerHeaders WHERE rowid > :cursor ORDER BY rowid LIMIT :limit
"""

_TABS = """
WITH i AS (
  SELECT rowid AS r, CAST(value AS TEXT) AS v FROM ItemTable
  WHERE key = 'workbench.panel.aichat.view.aichat.chatdata'),
t AS (
  SELECT i.r AS r, t.key AS n, t.value AS v FROM i
  JOIN json_each(CASE WHEN json_valid(i.v) THEN i.v ELSE '{}' END, '$.tabs') t
    ON t.type = 'object'
  WHERE json_array_length(t.value, '$.bubbles') > 0)
"""

_TAB = (
    _TABS
    + """
SELECT (r << 32) + (n << 16) AS place, 'tab:' || json_extract(v, '$.tabId'),
  json_object('tabId', json_extract(v, '$.tabId'), 'name', json_extract(v, '$.chatTitle'),
    'lastUpdatedAt', json_extract(v, '$.lastSendTime'), 'order', json((
      SELECT json_group_array(coalesce(json_extract(b.value, '$.id'), CAST(b.key AS TEXT)))
      FROM json_each(v, '$.bubbles') b)))
FROM t WHERE place > :cursor ORDER BY place LIMIT :limit
"""
)

_TAB_BUBBLE = (
    _TABS
    + """
SELECT (r << 32) + (n << 16) + b.key + 1 AS place,
  'tab:' || json_extract(v, '$.tabId') || ':' || coalesce(json_extract(b.value, '$.id'), b.key),
  b.value
FROM t JOIN json_each(v, '$.bubbles') b ON b.type = 'object'
WHERE place > :cursor ORDER BY place LIMIT :limit
"""
)

STATE = (
    Query(name="bubble", sql=_BUBBLE),
    Query(name="inline", sql=_INLINE),
    Query(name="tab-bubble", sql=_TAB_BUBBLE),
    Query(name="composer", sql=_COMPOSER),
    Query(name="head", sql=_HEAD.format(known=_KNOWN)),
    Query(name="head", sql=_HEAD.format(known="")),
    Query(name="row", sql=_ROW),
    Query(name="tab", sql=_TAB),
)
