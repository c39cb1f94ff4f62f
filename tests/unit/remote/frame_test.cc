// Frames: what is sent arrives, and what was changed, replayed, cut off or too large is refused before memory is taken.
#include "remote/frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

#include "base/json_text.h"
#include "remote/address.h"
#include "remote/handshake.h"
#include "remote/tensors.h"

namespace dnn::remote {
namespace {

const std::string kSecret(32, 's');

std::string sent(const std::vector<std::pair<Json, size_t>>& messages, bool tagged) {
  MemorySource nothing({});
  StringSink sink;
  Frames frames(nothing, sink, "here");
  if (tagged) frames.authenticate(as_bytes(kSecret), false);
  for (const auto& [map, payload] : messages) {
    std::vector<std::byte> bytes(payload);
    for (size_t i = 0; i < payload; ++i) bytes[i] = static_cast<std::byte>(i * 7);
    frames.send(map, {Bytes(bytes).first(payload / 3), Bytes(bytes).subspan(payload / 3)});
  }
  return sink.take();
}

// Why these bytes are refused; "" where they are not.
std::string refusal(const std::string& bytes, bool tagged = false, uint64_t most = uint64_t{1} << 30,
                    const std::string& secret = kSecret) {
  MemorySource source(as_bytes(bytes));
  StringSink sink;
  Frames frames(source, sink, "there");
  if (tagged) frames.authenticate(as_bytes(secret), true);
  try {
    while (frames.receive(most)) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Malformed) << error.what();
    return error.what();
  }
  return "";
}

TEST(Frames, CarryMessagesOfAnySize) {
  for (const bool tagged : {false, true}) {
    const size_t sizes[] = {0, 1, kMaxFramePayload - 1, kMaxFramePayload, kMaxFramePayload + 1, 3 * kMaxFramePayload};
    std::vector<std::pair<Json, size_t>> messages;
    for (const size_t size : sizes) messages.push_back({{{"size", size}}, size});
    const std::string bytes = sent(messages, tagged);
    MemorySource source(as_bytes(bytes));
    StringSink sink;
    Frames frames(source, sink, "there");
    if (tagged) frames.authenticate(as_bytes(kSecret), true);
    for (const size_t size : sizes) {
      const std::optional<Message> message = frames.receive(size);
      ASSERT_TRUE(message);
      EXPECT_EQ(message->map["size"], size);
      ASSERT_EQ(message->payload.size(), size);
      for (size_t i = 0; i < size; i += 997) ASSERT_EQ(message->payload[i], static_cast<std::byte>(i * 7));
    }
    EXPECT_FALSE(frames.receive(0));
  }
}

TEST(Frames, RefuseEachCutAndEachByteThatIsChanged) {
  const std::string bytes = sent({{{{"op", "x"}}, 40}, {{{"op", "y"}}, 0}}, true);
  const size_t first = bytes.size() - sent({{{{"op", "y"}}, 0}}, true).size();
  for (size_t n = 1; n < bytes.size(); ++n) {
    if (n != first) {  // where the second message begins
      EXPECT_NE(refusal(bytes.substr(0, n), true), "") << n;
    }
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 1);
    EXPECT_NE(refusal(changed, true), "") << n;
  }
}

TEST(Frames, RefuseWhatIsReplayedReorderedOrOfAnotherKey) {
  const std::string one = sent({{{{"op", "x"}}, 8}}, true), two = sent({{{{"op", "x"}}, 8}, {{{"op", "x"}}, 8}}, true);
  EXPECT_EQ(refusal(two, true), "");
  EXPECT_NE(refusal(one + one, true).find("frame 0 comes where 1 is due"), std::string::npos);
  EXPECT_NE(refusal(two.substr(one.size()) + one, true).find("frame 1 comes where 0 is due"), std::string::npos);
  std::string renumbered = one;  // a replay that also writes the number that is due
  renumbered[8] = 1;
  EXPECT_NE(refusal(one + renumbered, true).find("not signed with the key"), std::string::npos);
  EXPECT_NE(refusal(one, true, 100, std::string(32, 't')).find("not signed with the key"), std::string::npos);
  EXPECT_NE(refusal(one).find("no key is known"), std::string::npos);
  EXPECT_NE(refusal(sent({{{{"op", "x"}}, 8}}, false), true).find("is not signed"), std::string::npos);
}

TEST(Frames, HoldSizesToLimitsBeforeTheyTakeMemory) {
  std::string bytes = sent({{{{"op", "x"}}, 8}}, false);
  EXPECT_NE(refusal(bytes, false, 7).find("a payload of 8 bytes, above 7"), std::string::npos);
  for (const auto& [at, what] :
       {std::pair{size_t{4}, "a map of"}, {size_t{16}, "a payload of"}, {size_t{24}, "a payload of"}}) {
    std::string large = bytes;
    for (size_t i = 0; i < 4; ++i) large[at + i] = '\xff';
    EXPECT_NE(refusal(large, false).find(what), std::string::npos) << refusal(large);
  }
  bytes[24] = 9;  // of which nothing follows
  EXPECT_NE(refusal(bytes), "");
  EXPECT_NE(refusal("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").find("does not speak the protocol"),
            std::string::npos);
}

// Both sides of a handshake, each in a thread; what each says went wrong.
std::pair<std::string, std::string> greet(const std::string& of_client, const std::string& of_server) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const auto side = [](int fd, const auto& work) {
    FdTransport transport(fd, fd, "there", true);
    transport.limit(10, "a test");
    Frames frames(transport, transport, "there");
    try {
      work(frames);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::string server;
  std::thread other([&] {
    server = side(ends[1], [&](Frames& frames) {
      greet_client(frames, of_server);
      while (frames.receive(0)) frames.send({{"done", true}});
    });
  });
  const std::string client = side(ends[0], [&](Frames& frames) {
    greet_server(frames, of_client, "there");
    frames.send({{"op", "ping"}});
    if (!frames.receive(0)) fail_environment("closed");
  });
  other.join();
  return {client, server};
}

TEST(Handshake, NeedsTheSameKeyOnBothSides) {
  const std::string key(32, 'k'), other(32, 'o');
  EXPECT_EQ(greet("", ""), std::pair(std::string(), std::string()));
  EXPECT_EQ(greet(key, key), std::pair(std::string(), std::string()));
  EXPECT_NE(greet(key, other).first, "");
  EXPECT_NE(greet(key, other).second.find("not signed with the key"), std::string::npos);
  EXPECT_NE(greet("", key).first.find("give its file by --key"), std::string::npos);
  EXPECT_NE(greet(key, "").first.find("started without --key"), std::string::npos);
}

TEST(Tensors, AreJustTheBytesThatCame) {
  const std::vector<Tensor> tensors = {Tensor::of<float>({2, 2}, {1, 2, 3, 4}), Tensor(DType::Int8, {0, 3}),
                                       Tensor::scalar<int64_t>(7)};
  std::string bytes;
  for (const Bytes part : bytes_of(tensors)) bytes += as_text(part);
  const Json types = types_of(tensors);
  const std::vector<Tensor> back = tensors_of(types, as_bytes(bytes));
  ASSERT_EQ(back.size(), tensors.size());
  for (size_t i = 0; i < back.size(); ++i) EXPECT_TRUE(back[i].identical(tensors[i]));
  EXPECT_THROW(tensors_of(types, as_bytes(bytes + "x")), Error);
  EXPECT_THROW(tensors_of(types, as_bytes(bytes).first(bytes.size() - 1)), Error);
  for (const char* const wrong :
       {R"([{"dtype":"float32","shape":[-1]}])", R"([{"dtype":"string","shape":[1]}])", R"([{"shape":[1]}])", R"({})",
        R"([{"dtype":"float32","shape":[4611686018427387904,4]}])", R"([{"dtype":"float64","shape":[1e3]}])", R"([7])"})
    EXPECT_THROW(tensors_of(parse_json(wrong), as_bytes(bytes)), Error) << wrong;
}

TEST(Address, IsReadAsItIsWritten) {
  const auto is_device = [](const std::string& name) { return name == "cpu" || name == "opencl:0"; };
  const auto read = [&](const std::string& text) {
    std::string device;
    const std::optional<Address> a = parse_address(text, is_device, &device);
    return a ? cat(a->text, "|", a->user, "|", a->host, "|", a->port, "|", a->path, "|", device) : std::string("none");
  };
  EXPECT_EQ(read("cpu"), "none");
  EXPECT_EQ(read("tcp://board:7000/opencl:0"), "tcp://board:7000||board|7000||opencl:0");
  EXPECT_EQ(read("tcp://[::1]:7000"), "tcp://[::1]:7000||::1|7000||cpu");
  EXPECT_EQ(read("unix:/run/x.sock"), "unix:/run/x.sock|||0|/run/x.sock|cpu");
  EXPECT_EQ(read("unix:/run/x.sock/opencl:0"), "unix:/run/x.sock|||0|/run/x.sock|opencl:0");
  EXPECT_EQ(read("ssh://me@board:22/cpu"), "ssh://me@board:22|me|board|22||cpu");
  EXPECT_EQ(read("ssh://board"), "ssh://board||board|0||cpu");
  for (const char* const wrong :
       {"tcp://board", "tcp://board:70000", "tcp://:7", "ssh://-oProxyCommand=x/cpu", "ssh://", "ssh://a b/cpu",
        "ssh://-l@board", "unix:", "ssh://board:x/cpu", "tcp://bo$ard:1"})
    EXPECT_THROW(read(wrong), Error) << wrong;
  for (const char* devices :
       {"tcp://board:7000/cpu", "C=cpu@0,D=ssh://board/cpu", "unix:/run/x/cpu", "serial:/dev/ttyS0/cpu"})
    EXPECT_NO_THROW(check_key("line", devices)) << devices;
  for (const char* devices : {"cpu", "C=cpu@0,G=opencl:0", "lib:onnxruntime"}) {
    EXPECT_THROW(check_key("line", devices), Error) << devices;
    EXPECT_NO_THROW(check_key("", devices));
  }
}

}  // namespace
}  // namespace dnn::remote
